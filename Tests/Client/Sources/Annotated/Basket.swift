import BeeHive
import BeeHiveAnnotations

@BeeHiveModule struct Basket: Module {}
