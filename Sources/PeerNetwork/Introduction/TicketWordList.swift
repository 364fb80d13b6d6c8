/// The words of spoken tickets.
///
/// 1024 everyday things, chosen for this list: three to eight letters, no two with the same first four letters, none
/// the beginning of another, none one typing error away from another, no two that sound alike. They are in order, and a
/// word's place is its number, so the list must never change.
enum TicketWordList {
  /// In letters.
  static let minimumWordLength = 3

  static let words: [String] = text.split(whereSeparator: \.isWhitespace).map { String($0) }

  /// The place of each word by its first four letters, which identify it.
  static let places: [String: Int] = Dictionary(
    words.enumerated().map { (String($1.prefix(4)), $0) }, uniquingKeysWith: { first, _ in first })

  private static let text = """
    abbey acid acorn acre actor adobe adult aerial affair agent airport alarm album alcove algae alibi alley
    almond aloe alpine amber amulet anchor angel animal ankle anthem antler anvil apple april apron aquarium arch
    arctic arena armor aroma arrow artist ash aspen asphalt athlete atlas atom attic audience august aunt author
    autumn avenue aviator avocado award axis axle azure baby bacon badge bakery ballet bamboo banana banjo banner
    barber barley barrel basin basket bassoon bazaar beach bean beaver beet begonia bell berry bicycle bingo
    biscuit bishop bison blanket blizzard blossom blouse blue bobcat bonfire bonnet boot border boulder bracelet
    branch brass bread breeze brick bridge bronze broom brother brush bubble bucket buffalo bugle bundle bungalow
    burger bus butter cabin cactus cake calendar calm camel canary candle canoe canyon captain caramel cargo
    carnival carpet carrot casino castle cedar celery cellar cement century cereal chair chalk champion chapel
    charcoal cheese chef cherry chestnut chicken child chimney chin chorus cider cinema cinnamon circle citrus
    city clarinet clay clerk cliff clinic clock cloud clover club coal cobalt cobra cobweb coconut coffee college
    colony column comb comet comic compass concert condor cookie copper copy corner cosmos cotton couch cougar
    council court cousin cow coyote crab cradle crane crater crayon cream creek crew cricket crocus crop crown
    cruise crystal cube cuckoo cup curry curtain cushion cyclone cymbal cypress dagger daisy dam dancer data dawn
    deacon december deer delta denim dentist deputy desert desk dial diamond diesel digit dinner dinosaur diploma
    ditch doctor dog dollar dolphin dome domino donkey donut door dozen dragon drawer dress drizzle drum duchess
    duck duet dune dwarf dynamo eagle earth easel east echo eclipse editor eel egg eight elbow elder elephant elk
    embassy emerald emperor empire emu enamel encore engine entrance envelope envoy epoch equator era ermine
    errand escort essay estate ether euro evening exhibit exile expert eyebrow fabric factory fairy falcon family
    fan farmer father february felt fence fender fern festival fever fiber fiddle field fifty fig film finch
    finger fire fish flag flame flannel flask fleece flint flour flower flute foam foil folder font forest forge
    fork fossil fountain fox fragment freckle freezer fresco friday friend frog frost fruit fungus funnel furnace
    fuse gadget galaxy gallery garage garden garlic garnet gas gate gazelle geese gem general genie geyser ghost
    giant gift giraffe girl glacier glass glider glitter globe gnome goat gold gondola goose gorilla gourd grain
    grandma grape gravel green grocer group grove guard guest guide guitar gull guru gymnast gypsum habit hallway
    halo hammer hamster hand hangar harbor harp harvest hat hawk hazel head heart hedge heir helmet hen herald
    herb hermit heron hexagon hiker hill hinge hippo hobby hockey holiday hollow honey honor hood horizon hornet
    horse hotel hour hub human hunter hurdle husband husky hydrant hymn iceberg icicle idea idol igloo image index
    infant ink inlet insect invoice iodine iris iron island isle item ivory ivy jacket jaguar january jar jasmine
    javelin jazz jeans jeep jelly jersey jet jewel jigsaw joke journal joy judge jug juice july jumper jungle
    junior kangaroo kayak keg kelp kennel kettle keyboard kick kidney kilo kimono kindle king kiosk kitchen kite
    kiwi knapsack knee knight knob koala label lace ladder lady lagoon lamp lantern laptop laser lasso laurel lava
    lavender law leader leaf league leather lecture leek legend lemon lemur lens lentil leopard letter liberty
    library lid lilac lily lime linen lion list lizard llama lobster locket lodge logic loop lord lotion lotus
    lullaby lumber lunch lung lynx lyric machine magic magnet magpie mailbox major mall mammal mango mansion maple
    marble mare margin marine market maroon marsh mask match mattress meadow medal medicine melody member memory
    mentor menu mercury mermaid mesa message meteor midnight midwife mile mimosa mineral mint minute miracle
    mirror mitten mobile mocha model mohair monday monk month moon mop morning mosaic mosque moss mother motor
    mouse mud muffin mural muscle museum music mussel mustard mutton myth name napkin nation nature nectar needle
    neighbor neon nephew neptune nest network nickel niece nitrogen node nomad noodle north notebook november
    nozzle nugget nurse nutmeg nylon nymph oak oasis oatmeal object oboe ocean october office ogre olive omelet
    onion onyx opal opera oracle orange orbit orca orchard oregano organ origami ostrich otter ounce outfit outlet
    oven owl owner oxygen oyster paddle painter palace pancake panda panther papaya paper parade park pasta patio
    patrol pavement peanut pearl pebble pelican pencil penguin pepper perfume petal photo piano pickle picnic
    pigeon pillow pilot pine pizza planet plaster platinum plaza plum poem polar police pollen polo pond poppy
    porch portrait potato powder prairie present prince prism prize pulse puma pumpkin puppet purple puzzle
    pyramid python quail quartz queen quilt quiver rabbit raccoon radar radio raft rail rainbow raisin raven razor
    recipe reef referee region relay remedy report reptile rescue retina rhubarb rhythm ribbon rice river road
    robin rodeo roof rope royal rubber ruby rudder ruler runner safari sailor salad salmon salt salute sandal
    sapphire sardine satchel saturn sauce sausage scarf school science scooter scout sculptor season second seed
    senator sequoia sesame seven shadow shampoo shark sheep shelf sherbet shield ship shoe shovel shrimp siesta
    signal silver siren sister sketch ski skunk slipper slope smoke snail snow soap soccer soda soldier sonata
    south soybean space sparrow spear sphere spider spinach spiral sponge spoon spring spruce squash squid stadium
    stair stamp statue steam stereo stone stork straw street student sugar suitcase summer sunday sunset supper
    surf swallow swan sweater swing symbol syrup table talent tape target tassel tavern taxi teacher teapot temple
    tennis tent terrace theater thimble thread throne thumb thunder ticket tiger timber tinsel titan toast tomato
    tongue tooth topaz tornado tortoise tourist towel tractor trapeze treasure tree triangle tribe trophy trout
    truck trumpet tuba tulip tundra turkey turnip turtle tuxedo twig twins umbrella uncle unicorn uniform unit
    urchin usher utensil vacuum vanilla vapor vase vault vector velvet vendor verse vessel veteran vicar victory
    video village vinegar violin visitor vitamin volcano volume voyage vulture waffle wagon waiter walnut walrus
    warrior wasp wave wax wedding whale wheat wheel whisker winter wolf wombat wool worker world worm wreath wrist
    yacht yard year yellow yogurt young zebra zenith zero zigzag zinc zipper zodiac zone zoo
    """
}
